// Positions and a game to try. A position may be followed by " | " and the move to ask about.

export const EXAMPLES = [
  { name: "A discovered attack", text: "r4rk1/pp3pp1/8/4q3/4B3/8/PPP2PPP/R3Q1K1 w - - 0 1" },
  { name: "A fork", text: "r2qk2r/ppp2ppp/2p5/5b2/3n4/2N1P3/PPP2PPP/R1BQKB1R b KQkq - 0 9" },
  { name: "A sacrifice", text: "r1bk2nr/p2p1pNp/n2B4/1p1NP2P/6P1/3P1Q2/P1P1K3/q5b1 w - - 1 22" },
  { name: "A bad move", text: "3q2k1/3r4/pp3p1Q/2b1n3/P3N3/2P5/1P4PP/R6K w - - 1 25 | h6g6" },
  { name: "A quiet move", text: "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3" },
  {
    name: "A game",
    text: `[Event "Opera"]
[Date "1858.11.02"]
[White "Morphy"]
[Black "Duke Karl and Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5
11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0`,
  },
];
