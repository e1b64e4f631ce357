import { designTokens } from '../http/design-tokens.ts';

/** The style sheet of the reference page. */
export const pageStyle = `${designTokens}
* { box-sizing: border-box; }
html { scroll-padding-top: 16px; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 400 var(--size-16) / 1.55 var(--sans);
  overflow-wrap: break-word;
}
a { color: var(--accent); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: 16px; top: -64px; padding: 8px 12px; background: var(--ground); }
.skip:focus { top: 8px; }

.frame { max-width: 1360px; margin: 0 auto; padding: 0 16px 64px; }
nav { padding: 24px 0 16px; border-bottom: 1px solid var(--line); font-size: var(--size-14); }
nav ul { display: flex; flex-wrap: wrap; gap: 0 16px; margin: 0 0 8px; padding: 0; list-style: none; }
nav p { margin: 0; color: var(--quiet); font-size: var(--size-12); font-weight: 600; }
nav a { display: block; padding: 4px 0; color: inherit; text-decoration: none; }
nav a:hover { color: var(--accent); text-decoration: underline; }

h1, h2, h3, h4 { font-weight: 600; line-height: 1.3; text-wrap: balance; }
h1 { margin: 32px 0 8px; font-size: var(--size-28); }
h2 { margin: 48px 0 8px; font-size: var(--size-20); }
h3 { margin: 0 0 8px; font-size: var(--size-20); }
h4 { margin: 24px 0 4px; font-size: var(--size-14); }
p { margin: 0 0 12px; }
.lead { color: var(--quiet); }
.text { max-width: 760px; }

code, pre { font-family: var(--mono); font-size: var(--size-14); }
code { overflow-wrap: anywhere; }
td:first-child code { overflow-wrap: break-word; }
p code, td code { padding: 1px 4px; border-radius: 4px; background: var(--raised); }
pre {
  margin: 0;
  padding: 12px 16px;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--raised);
  font-size: var(--size-12);
  line-height: 1.6;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
pre code { font-size: inherit; }
pre.command { word-break: break-all; }
.address { margin: 0 0 12px; font-weight: 600; }
p.address code { padding: 0; background: none; font-size: var(--size-16); }
.method { color: var(--quiet); }

table { width: 100%; border-collapse: collapse; font-size: var(--size-14); line-height: 1.5; }
caption { text-align: start; }
th, td { padding: 8px 16px 8px 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; }
th:last-child, td:last-child { padding-inline-end: 0; }
thead th { color: var(--quiet); font-size: var(--size-12); font-weight: 600; }
tbody th { font-weight: 400; }
.text table { margin: 4px 0 16px; }
.fields th:first-child { width: 40%; }
.fields tbody th code { font-weight: 600; }
.type { display: block; color: var(--quiet); font-size: var(--size-12); }
.statuses th:first-child { width: 56px; font-variant-numeric: tabular-nums; }
.message { display: block; color: var(--quiet); font-size: var(--size-12); }

article { padding: 32px 0; border-top: 1px solid var(--line); }
article.shape { max-width: 760px; }
h2 + article { margin-top: 16px; }
.said { min-width: 0; }
.shown { min-width: 0; margin-top: 8px; }

@media (min-width: 900px) {
  .frame { display: grid; grid-template-columns: 208px minmax(0, 1fr); gap: 48px; padding: 0 32px 96px; }
  nav { position: sticky; top: 0; max-height: 100vh; padding: 36px 0 24px; border: 0; overflow-y: auto; }
  nav ul { display: block; margin: 4px 0 24px; }
}
@media (min-width: 1200px) {
  article.operation { display: grid; grid-template-columns: minmax(0, 1fr) 440px; gap: 40px; }
  .shown { position: sticky; top: 16px; align-self: start; margin-top: 0; }
  .shown h4:first-child { margin-top: 0; }
}
@media (max-width: 480px) {
  th, td { padding-inline-end: 12px; }
  .fields th:first-child { width: 52%; }
  p.address code { font-size: var(--size-14); }
  td code, .fields code { font-size: var(--size-12); }
}
@media print { nav, .skip { display: none; } }
`;
