use std::time::Instant;
fn main() {
    let mut rows = vec![];
    for l in std::io::stdin().lines().skip(1) {
        let l = l.unwrap();
        let mut c = l.split(',').skip(1);
        rows.push((c.next().unwrap().to_owned(), c.next().unwrap().to_owned()));
    }
    for _ in 0..3 {
        let t = Instant::now();
        let lines: Vec<koga::Line> = rows
            .iter()
            .map(|(f, m)| {
                let mut it = m.split(' ');
                let s = it.next().unwrap();
                koga::Line::parse_with_setup(f, s, it).unwrap()
            })
            .collect();
        let parse = t.elapsed();
        let t = Instant::now();
        let d: Vec<_> = lines.iter().map(koga::tactics::detect).collect();
        let det = t.elapsed();
        let t = Instant::now();
        let n: usize = lines.iter().zip(d).map(|(l, d)| koga::arbiter::arbitrate(l, d).findings.len()).sum();
        let arb = t.elapsed();
        let k = rows.len() as f64 / 1e6;
        println!(
            "parse {:.2}us detect {:.2}us arbitrate {:.2}us ratio {:.2} findings {n}",
            parse.as_secs_f64() / k,
            det.as_secs_f64() / k,
            arb.as_secs_f64() / k,
            (det + arb).as_secs_f64() / parse.as_secs_f64()
        );
        for def in &koga::tactics::DEFINITIONS {
            let _ = def;
        }
    }
}
