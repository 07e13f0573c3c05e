/** Style sheet of the report page, for light, dark and print, and for all screen widths. */
export const STYLE = `:root{color-scheme:light dark;--ink:#1c2127;--paper:#fff;--soft:#59636e;--rule:#e3e7eb;--accent:#14506e;--good:#1a6b33;--bad:#a40e26}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--paper:#101419;--soft:#9ba5b0;--rule:#2a3138;--accent:#7fbfdf;--good:#63cf7b;--bad:#ff8a80}}
*{box-sizing:border-box}html{scroll-padding-top:3rem}
body{margin:0;font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--ink);background:var(--paper);font-variant-numeric:tabular-nums}
main{max-width:60rem;margin:0 auto;padding:2.5rem 1.5rem 6rem}
h1{font-size:2.1rem;font-weight:600;letter-spacing:-.01em;line-height:1.2;margin:.1rem 0;overflow-wrap:anywhere}
h2{font-size:1.3rem;font-weight:600;margin:4rem 0 .8rem}h3{font-size:1rem;font-weight:600;margin:1.6rem 0 .4rem}h4{font-size:1.3rem;margin:0 0 1rem}h5{font-size:1rem;margin:1rem 0 .2rem}
summary h3,summary{cursor:pointer}summary h3{display:inline}summary{color:var(--accent);margin:.6rem 0}.year>summary{color:inherit}
a{color:var(--accent);text-decoration-color:color-mix(in srgb,var(--accent) 35%,transparent);text-underline-offset:.15em}a.explorer{color:inherit;text-decoration:none}a.explorer[href]:is(:hover,:focus-visible){text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.88em}small{font-size:.85em;color:var(--soft)}
.eyebrow{color:var(--accent);font-size:.85rem;letter-spacing:.08em;text-transform:uppercase;margin:0}.period,.note{color:var(--soft)}.period{margin:0}.note{font-size:.88rem;max-width:46rem}
.badge{border:1px solid var(--rule);border-radius:4px;padding:0 .35em;white-space:nowrap}
ul{padding-left:1.2rem}.chips,.legend,.figures,.multiples,.entries,nav ul{list-style:none;padding:0;margin:1rem 0}
.chips{display:flex;flex-wrap:wrap;gap:.2rem 1rem;color:var(--soft);font-size:.92rem}
.seal{margin:1rem 0 0;font-size:.92rem;border-left:3px solid;padding:.1rem 0 .1rem .8rem}.seal span{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}
.total{font-size:2.6rem;font-weight:600;letter-spacing:-.02em;line-height:1.2;margin:.2rem 0;overflow-wrap:anywhere}.total small{font-size:.45em;letter-spacing:0;font-weight:400}
.figures{display:flex;flex-wrap:wrap;gap:.5rem 2.5rem}.figures b{font-size:1.7rem;font-weight:600;letter-spacing:-.01em}
.bar{display:block;width:100%;height:12px;border-radius:3px;margin:1.4rem 0 .5rem}.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.3rem;font-size:.88rem;margin:.5rem 0 1.5rem}.swatch{display:inline-block}
svg{display:block;max-width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:var(--soft)}.end{text-anchor:end}.middle{text-anchor:middle}
.chart svg{width:100%}.narrow{display:none}
.grid{stroke:var(--rule)}.axis{stroke:var(--soft)}.line{fill:none;stroke:var(--accent);stroke-width:1.6;stroke-linejoin:round}.old{stroke-dasharray:4 4}
.s0{fill:color-mix(in srgb,var(--accent) 72%,var(--paper))}.s1{fill:color-mix(in srgb,var(--accent) 54%,var(--paper))}.s2{fill:color-mix(in srgb,var(--accent) 40%,var(--paper))}.s3{fill:color-mix(in srgb,var(--accent) 28%,var(--paper))}.s4{fill:color-mix(in srgb,var(--accent) 18%,var(--paper))}.s5{fill:color-mix(in srgb,var(--accent) 10%,var(--paper))}
.node{fill:var(--accent)}.ribbon{fill:none;stroke:var(--accent);stroke-opacity:.22}svg .name{fill:var(--ink)}
.multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.6rem}.multiples li{min-width:0}.multiples h3{margin:0 0 .3rem}.multiples p{margin:.2rem 0 0}
.scroll,.picture{overflow-x:auto;margin:.8rem 0;background:linear-gradient(90deg,var(--paper) 2rem,transparent) 0 0/3rem 100% no-repeat local,linear-gradient(270deg,var(--paper) 2rem,transparent) 100% 0/3rem 100% no-repeat local,linear-gradient(90deg,var(--rule),transparent) 0 0/.7rem 100% no-repeat scroll,linear-gradient(270deg,var(--rule),transparent) 100% 0/.7rem 100% no-repeat scroll}.picture svg{min-width:44rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}caption{text-align:left;color:var(--soft);font-size:.88rem;padding:.2rem 0}
th,td{padding:.42rem .9rem .42rem 0;text-align:left;font-weight:400;white-space:nowrap;vertical-align:top;border-top:1px solid var(--rule)}
thead th{color:var(--soft);font-size:.85rem;white-space:normal;vertical-align:bottom;border-top:0}tbody th{font-weight:500;max-width:18rem;overflow:hidden;text-overflow:ellipsis}
tfoot :is(th,td){font-weight:600;border-top:1px solid var(--soft)}.number{text-align:right}:is(th,td):last-child{padding-right:0}td.text{white-space:normal;min-width:11rem;overflow-wrap:anywhere}.amount{white-space:nowrap}
button{font:inherit;color:var(--accent);background:none;border:1px solid var(--rule);border-radius:5px;padding:.15rem .7rem;cursor:pointer}button:disabled{color:var(--soft);cursor:default;opacity:.6}
thead button{border:0;padding:0;color:inherit;text-align:inherit}caption button{border:0;padding:0 0 0 .6rem;font-size:.9em;float:right}.hidden{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
th[aria-sort=descending] button::after{content:" ▾"}th[aria-sort=ascending] button::after{content:" ▴"}
.tools{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:end;font-size:.88rem;color:var(--soft)}.tools label{display:grid;gap:.1rem}.tools :is(select,input){font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--rule);border-radius:5px;padding:.25rem .4rem;max-width:11rem}
.entries{margin:.2rem 0 1rem}.entries>li{display:grid;grid-template-columns:3.4rem minmax(0,1fr) auto auto;gap:0 .6rem;border-top:1px solid var(--rule);padding:.45rem 0}.time{color:var(--soft);font-size:.88rem;padding-top:.12rem}.event{margin:0;overflow-wrap:anywhere}.event b{font-weight:600}.event small b{font-weight:inherit}.wallet{color:var(--soft);margin-right:.6em}.wallet::after{content:" ·"}.failed,.approved,.called{color:var(--soft)}
.entries summary{color:var(--soft);margin:0;font-size:.82rem}.entries details[open]{grid-column:1/-1}.pages{display:flex;gap:1rem;align-items:center;font-size:.88rem}
.page p{overflow-wrap:anywhere}.page tbody th{max-width:none;white-space:normal;overflow-wrap:anywhere}.page{border:1px solid var(--rule);padding:2rem;margin:1rem 0;max-width:48rem}.sign{display:flex;gap:3rem;margin:4rem 0 0}.sign span{flex:1;border-top:1px solid var(--ink);padding-top:.3rem;font-size:.85rem}
nav{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--rule);font-size:.88rem;display:flex;gap:1.2rem;align-items:center;padding:.5rem 1.5rem;overflow-x:auto;white-space:nowrap}nav ul{display:flex;gap:1.1rem;margin:0}nav a{color:var(--soft);text-decoration:none}nav a:is(:hover,:focus-visible){color:var(--accent)}.switch{margin-left:auto;color:var(--soft)}
@media screen and (min-width:80rem){html{scroll-padding-top:1rem}nav{position:fixed;inset:0 auto 0 0;width:13rem;flex-direction:column;align-items:start;border:0;padding:3.4rem 1.5rem 2rem;white-space:normal}nav ul{flex-direction:column;gap:.45rem}.switch{margin:1.5rem 0 0}main{margin-left:max(14rem,calc(50vw - 30rem))}}
@media (max-width:37.5rem){main{padding:1.4rem 1rem 4rem}h1{font-size:1.6rem}h2{margin-top:3rem}.total{font-size:1.9rem}.wide{display:none}.narrow{display:block}.page{padding:1rem}.tools label{flex:1 1 8rem}.tools :is(select,input){max-width:none;width:100%}.entries>li{grid-template-columns:2.6rem minmax(0,1fr) auto}.entries details{grid-column:2/-1}#holdings>.scroll:first-of-type :is(th,td):is(:nth-child(3),:nth-child(5)){display:none}}
@media print{@page{size:A4;margin:16mm 14mm}html{font-size:10.5px}body{font-size:1rem}main{max-width:none;padding:0}nav,.tools,.pages button,noscript,.shown,caption button,.entries details,details.data{display:none}h2{margin-top:2.2rem}h2,h3,h4,summary,caption,.note{break-after:avoid}tr,li,.multiples li,.chart,.seal{break-inside:avoid}.scroll,.picture{overflow:visible;background:none}th,td{white-space:normal;padding:.18rem .6rem .18rem 0}thead{display:table-header-group}tfoot{display:table-row-group}thead button{display:contents}details:not(.data)::details-content{content-visibility:visible;height:auto}summary{list-style:none;color:inherit}.sheet>summary{display:none}.page{break-before:page;break-after:page;border:0;padding:0;max-width:none;min-height:90vh}a{color:inherit;text-decoration:none}#nfts details{display:none}.entries>li{padding:.2rem 0}}
`
