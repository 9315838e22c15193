extension Page {
    /// Large enough to touch (44 px), dark where the reader's system is, and of contrast 7:1 for text (WCAG 2.2 §1.4.6).
    static let style: HTML = """
        :root{--ink:#1c1c1e;--soft:#4a4a4f;--paper:#f4f4f6;--card:#fff;--line:#b9b9c0;--strong:#000;--on:#fff;--mark:#0a4fa3;--bad:#9c1006}
        @media(prefers-color-scheme:dark){:root{--ink:#f5f5f7;--soft:#c3c3ca;--paper:#0f0f11;--card:#1d1d20;--line:#55555d;--strong:#fff;--on:#000;--mark:#8ec1ff;--bad:#ff9d94}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
        .banner{margin:0;padding:.65rem 1rem;background:#ffd60a;color:#1c1c1e;text-align:center;font-size:.9rem;border-bottom:2px solid #1c1c1e}
        main{max-width:32rem;margin:0 auto;padding:1.25rem 1rem 3rem}
        h1{font-size:1.5rem;line-height:1.2;margin:.25rem 0 .5rem}
        h2{font-size:1.1rem;margin:2rem 0 .5rem}
        p{margin:.25rem 0 .75rem}
        form+p{margin-top:1rem}
        small,.soft{color:var(--soft);font-size:.875rem}
        code{font:.875em ui-monospace,Menlo,Consolas,monospace}
        fieldset{border:0;margin:1.25rem 0 0;padding:0;min-width:0}
        legend{padding:0;margin-bottom:.5rem;font-weight:600}
        .card{display:flex;gap:.75rem;align-items:flex-start;min-height:44px;padding:.75rem;margin:-1px 0 0;background:var(--card);border:1px solid var(--line)}
        .card:first-of-type{border-radius:.75rem .75rem 0 0}
        .card:last-of-type{border-radius:0 0 .75rem .75rem}
        .card span{min-width:0}
        .card b,.card small{display:block}
        .card:has(:checked){outline:2px solid var(--mark);outline-offset:-2px}
        input[type=radio]{flex:none;width:1.25rem;height:1.25rem;margin:.1rem 0 0;accent-color:var(--mark)}
        label.field{display:block;margin:.75rem 0 0;font-weight:600}
        .field input,.field select{display:block;width:100%;min-height:44px;margin-top:.25rem;padding:.5rem .65rem;font:inherit;font-weight:400;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
        .invent{margin:.25rem 0 0;padding:0 .75rem .75rem;border-left:3px solid var(--line)}
        @supports selector(:has(*)){.invent{display:none}fieldset:has(#new:checked) .invent{display:block}}
        button{display:block;width:100%;min-height:48px;margin:1rem 0 0;padding:.6rem 1rem;font:inherit;font-size:1.05rem;font-weight:600;color:var(--on);background:var(--strong);border:2px solid var(--strong);border-radius:.75rem;cursor:pointer}
        button.second{color:var(--ink);background:transparent}
        :focus-visible{outline:3px solid var(--mark);outline-offset:2px}
        a,summary{color:var(--mark)}
        summary{padding:.65rem 0;cursor:pointer}
        b,.list code{font-weight:600}
        .error{padding:.75rem;border:2px solid var(--bad);border-radius:.5rem;color:var(--bad);background:var(--card)}
        dl{margin:0}
        dt{font-weight:600}
        dd{margin:0}
        ul{padding-left:1.25rem;margin:.25rem 0}
        .list{list-style:none;padding:0;border:1px solid var(--line);border-radius:.75rem;background:var(--card)}
        .list>*{padding:.75rem;border-top:1px solid var(--line)}
        .list>:first-child{border-top:0}

        """
}
