//! stub
use crate::{Engine, EngineError, Limits, PvLine, StopHandle};
use shakmaty::{Chess, Move};
/// a
pub struct Uci;
/// b
#[derive(Default)]
pub struct UciOptions;
impl Uci {
    /// c
    pub fn start(_: &str, _: &UciOptions) -> Result<Uci, EngineError> {
        todo!()
    }
}
impl Engine for Uci {
    fn name(&self) -> &str {
        ""
    }
    fn analyse_after(
        &mut self,
        _: &Chess,
        _: &[Move],
        _: &Limits,
    ) -> Result<Vec<PvLine>, EngineError> {
        todo!()
    }
    fn stop_handle(&self) -> StopHandle {
        todo!()
    }
}
