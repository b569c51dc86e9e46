//! What a browser recorded (HAR 1.2), as a scenario.
