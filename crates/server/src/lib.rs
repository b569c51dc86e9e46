//! Files, listings, compression, access log over the engine.
