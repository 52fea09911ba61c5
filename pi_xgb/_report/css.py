"""The style sheet of a report: phone to desktop, light and dark, screen and paper."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2126; --faint: #5a646e; --line: #d5dae0; --band: #f3f5f7; --link: #0a5a9c;
  --note: #fff6e0; --note-line: #c98a00;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181c; --ink: #e6e9ec; --faint: #a3adb7; --line: #39424b; --band: #1d2329; --link: #7cb8ee;
    --note: #2b2412; --note-line: #d9a335;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 78rem; padding: 1rem 1.25rem 3rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 1.5rem 0 .5rem; }
p, dl, ul { max-width: 46rem; }
a { color: var(--link); }
.lead, figcaption, caption, small { color: var(--faint); }
nav ul { list-style: none; margin: 1rem 0; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
.scroll { overflow-x: auto; margin: 1rem 0; container-type: inline-size; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; padding-bottom: .4rem; font-size: .9rem; }
caption span { display: block; position: sticky; left: 0; max-width: 100cqw; }
th, td { padding: .35rem .7rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { vertical-align: bottom; border-bottom-width: 2px; font-weight: 600; }
td small { display: block; white-space: nowrap; font-size: .82em; }
th[scope="row"] { font-weight: 500; }
th:first-child { position: sticky; left: 0; background: var(--paper); text-align: left; max-width: 16rem; }
th.name { text-align: left; }
th[scope="row"] { text-align: left; overflow-wrap: anywhere; min-width: 6rem; }
tbody tr:nth-child(even) > * { background: var(--band); }
.settings {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.5rem;
  align-items: start;
}
.settings > * { min-width: 0; }
.settings > :not(:last-child) { grid-column: 1 / -1; }
.settings td { text-align: left; overflow-wrap: anywhere; min-width: 9rem; max-width: 30rem; }
.settings th[scope="row"] { min-width: 10rem; }
.settings thead th { text-align: left; }
.sure { font-weight: 700; }
.figures {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem 1.5rem;
  align-items: start;
}
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 1.5rem; }
.pair > * { min-width: 0; }
figure { margin: .5rem 0; max-width: 30rem; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figure svg text { font-family: "DejaVu Sans", Verdana, system-ui, sans-serif; }
figcaption { font-size: .88rem; margin-top: .3rem; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0 0 0 1rem; }
.note { background: var(--note); border-left: 4px solid var(--note-line); padding: .5rem 1rem; max-width: 48rem; }
.summary { border-left: 4px solid var(--link); background: var(--band); padding: .5rem 1rem; margin: 1rem 0; }
.summary h2 { border: 0; margin: 0; padding: 0; font-size: 1.15rem; }
.summary ul { margin: .4rem 0; padding-left: 1.2rem; }
.summary li { margin: .25rem 0; }
td small.pair-of-groups { white-space: normal; min-width: 7rem; }
.note h2 { border: 0; margin: 0; padding: 0; font-size: 1.05rem; }
.note ul { margin: .4rem 0; padding-left: 1.2rem; }
@media screen and (max-width: 40rem) {
  .wide caption span::after { content: "Scrolls sideways →"; display: block; color: var(--link); }
  body { padding: .5rem .9rem 2rem; }
  th, td { padding: .3rem .5rem; }
  th:first-child { max-width: 9rem; }
}
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  nav { display: none; }
  h2, h3, caption { break-after: avoid; }
  tr { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; container-type: normal; }
  table { font-size: 7.5pt; }
  th, td { padding: 1mm 1.2mm; }
  th:first-child { position: static; }
  th[scope="row"] { min-width: 14mm; }
  .settings td { min-width: 0; }
  .settings th[scope="row"] { min-width: 28mm; }
  caption, figcaption { font-size: 8pt; }
  .figures { grid-template-columns: repeat(2, 1fr); gap: 4mm; }
  .pair { grid-template-columns: repeat(2, 1fr); gap: 0 4mm; }
  tbody tr:nth-child(even) > * { background: none; }
  a { color: inherit; text-decoration: none; }
}
"""
