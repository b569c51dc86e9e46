//! A folder served from a program: `cargo run --example files -- examples/site 127.0.0.1:8080`.

use vervet_engine::Engine;
use vervet_server::{Files, FilesOptions, FilesShared};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = arguments.next().unwrap_or_else(|| ".".to_owned());
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let shared = FilesShared::new(FilesOptions::new(root))?;
    let engine = Engine::builder().listen(&address)?.start(move |_| Files::new(&shared))?;
    for listener in engine.listeners() {
        println!("listening on {listener}");
    }
    engine.wait()?;
    Ok(())
}
