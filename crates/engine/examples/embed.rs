//! A whole server with a handler of its own: `cargo run --example embed`.

use vervet_engine::{Engine, EngineError, Exchange, Response};

fn main() -> Result<(), EngineError> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let engine = Engine::builder().listen(&address)?.serve(|exchange: Exchange<'_>| {
        let target = String::from_utf8_lossy(exchange.head().target);
        Response::text(format!("Hello from {target}\n")).into()
    })?;
    for listener in engine.listeners() {
        println!("listening at http://{listener}/");
    }
    engine.wait()
}
