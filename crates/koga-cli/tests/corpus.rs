//! Every case of the corpus is a test of its own: as given, with colours swapped and, where nobody may castle, with files
//! mirrored.

use std::process::ExitCode;

use koga::Tactic;
use koga_cli::corpus::{self, Mirror};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for tactic in Tactic::ALL {
        let cases = match corpus::cases(tactic) {
            Ok(cases) => cases,
            Err(err) => {
                let message = err.to_string();
                trials.push(Trial::test(format!("{tactic}"), move || Err(Failed::from(message))));
                continue;
            }
        };
        for case in cases {
            let mut mirrors = vec![(Mirror::None, ""), (Mirror::Colors, " with colours swapped")];
            if case.is_file_mirrorable() {
                mirrors.push((Mirror::Files, " with files mirrored"));
            }
            for (mirror, how) in mirrors {
                let case = case.clone();
                let name = format!("{tactic}/{}{how}", case.id);
                trials.push(Trial::test(name, move || case.check(mirror).map_err(Failed::from)));
            }
        }
    }
    let mut arguments = Arguments::from_args();
    // Hundreds of lines that say `ok` tell nothing.
    arguments.quiet = arguments.format.is_none();
    libtest_mimic::run(&arguments, trials).exit_code()
}
