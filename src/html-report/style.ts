/** Style sheet of the report page, for light, dark and print, and for all screen widths. */
export const STYLE = `:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#57606a;--rule:#d0d7de;--tile:#f6f8fa;--good:#1a6b33;--bad:#a40e26;--accent:#0550ae;--received:#2f7d4f;--sent:#b4532a;--own:#6e7781;--minted:#2b6cb0;--burned:#8250df;--fee:#9a6700}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--soft:#9aa4b0;--rule:#30363d;--tile:#161b22;--good:#56d364;--bad:#ff7b72;--accent:#79b8ff;--received:#56b36b;--sent:#e0844f;--own:#8b949e;--minted:#58a6ff;--burned:#bc8cff;--fee:#d29922}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:90rem;padding:1.5rem 1rem 4rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.7rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.25rem;margin:2.5rem 0 .6rem}h3{font-size:1.05rem;margin:1.5rem 0 .5rem}.multiples h3{font-size:.9rem;margin:0;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
a{color:var(--accent)}
.subtitle,.note,small{color:var(--soft)}.subtitle{margin:.2rem 0}.note{font-size:.85rem}
.stamp{font-weight:600;margin:.5rem 0}.good{color:var(--good)}.bad{color:var(--bad)}
.words{font-size:1.05rem;max-width:60rem}
ul.tiles,ul.legend,ul.multiples,ol.ranked{list-style:none;padding:0;margin:1rem 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:.7rem}
.tiles li{background:var(--tile);border:1px solid var(--rule);border-radius:8px;padding:.7rem .9rem;display:flex;flex-direction:column}
.tiles b{font-size:1.35rem}.amount{white-space:nowrap}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.9rem}
.multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.8rem}
.multiples li{border:1px solid var(--rule);border-radius:8px;padding:.6rem;min-width:0}.multiples p{margin:.2rem 0 0}
svg{display:block;max-width:100%;height:auto;font:11px system-ui,sans-serif}svg text{fill:var(--soft)}svg .end{text-anchor:end}svg .name{paint-order:stroke;stroke:var(--paper);stroke-width:3px;fill:var(--ink)}svg .middle{text-anchor:middle}
td svg{width:7.5rem;height:auto}
.legend svg{display:inline-block}.picture svg{width:100%}
.k-received{fill:var(--received)}.k-sent{fill:var(--sent)}.k-own{fill:var(--own)}.k-minted{fill:var(--minted)}.k-burned{fill:var(--burned)}.k-fee{fill:var(--fee)}
.grid,.tick{stroke:var(--rule)}.spark,.heat,.read{fill:var(--accent)}.node{fill:var(--ink)}.track{fill:var(--rule)}.line{fill:none;stroke:var(--accent);stroke-width:1.5}.zero{stroke:var(--soft);stroke-dasharray:3 3}.ribbon{fill:none;stroke:var(--accent);stroke-opacity:.3}.ribbon:hover{stroke-opacity:.7}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:8px;margin:.6rem 0}
table{border-collapse:collapse;width:100%;font-size:.88rem}caption{text-align:left;padding:.4rem .6rem;color:var(--soft)}
th,td{padding:.3rem .6rem;text-align:left;white-space:nowrap;border-top:1px solid var(--rule);font-weight:400}table:has(th:nth-child(9)) :is(th,td){padding-inline:.35rem}
thead th{position:sticky;top:0;background:var(--tile);z-index:1;white-space:normal;vertical-align:bottom}thead button{all:unset;cursor:pointer;font-weight:600}thead button:focus-visible{outline:2px solid var(--accent)}
th[aria-sort=descending] button::after{content:" ▾"}th[aria-sort=ascending] button::after{content:" ▴"}
tbody th{position:sticky;left:0;background:var(--paper);max-width:14rem;overflow:hidden;text-overflow:ellipsis}tfoot th,tfoot td{font-weight:600;border-top:2px solid var(--rule)}tfoot th{position:sticky;left:0;background:var(--paper);white-space:normal}td.text{white-space:normal;min-width:8rem;overflow-wrap:anywhere}.id{font-family:ui-monospace,monospace;font-size:.9em}
[data-rounded]::before{content:"≈ ";color:var(--soft)}
.long:not(:has(:checked)) tbody tr:nth-child(n+41),.long:not(:has(:checked)) .all,.long:has(:checked) .some,.long:has(:checked) .print{display:none}.shown{font-size:.85rem;margin:.3rem 0}
.number{text-align:right;font-variant-numeric:tabular-nums}.address{font-family:ui-monospace,monospace;font-size:.85em}
.chip{display:inline-block;background:var(--tile);border:1px solid var(--rule);border-radius:99px;padding:0 .5rem;margin:.1rem 0}
details{margin:.6rem 0}.print{display:none}summary{cursor:pointer}
.ranked{display:none}.ranked li{display:grid;grid-template-columns:9rem 1fr auto;gap:.5rem;align-items:center;font-size:.85rem}.ranked span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}meter{width:100%}
.tools{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center}.tools select{font:inherit;color:var(--ink);background:var(--paper);max-width:14rem}.tools input{min-width:12rem;font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:6px;padding:.2rem .4rem}.tools button{font:inherit;color:var(--ink);background:var(--tile);border:1px solid var(--soft);border-radius:6px;padding:.2rem .6rem;cursor:pointer}
.list{height:32rem;overflow:auto;border:1px solid var(--rule);border-radius:8px;margin:.6rem 0;position:relative;font-size:.82rem}
.compare .scroll{max-height:34rem;overflow-y:auto}.compare thead th{white-space:nowrap}.list:focus-visible,.scroll:focus-visible{outline:2px solid var(--accent)}
.row{display:grid;grid-template-columns:10rem 9rem 7rem 5rem 3rem 12rem 14rem 9rem 7rem 8rem;gap:.6rem;height:26px;align-items:center;padding:0 .6rem;min-width:92rem;white-space:nowrap}
.row span{overflow:hidden;text-overflow:ellipsis}.space{position:relative;min-width:92rem}.space .row{position:absolute;top:0;left:0}
.heads{position:sticky;top:0;background:var(--tile);font-weight:600;z-index:1}.current{background:var(--tile)}
nav ul{padding-left:1.1rem}.contents ul{list-style:none;padding:0;margin:1rem 0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}summary h3{display:inline}
@media (max-width:560px){body{padding:1rem .7rem 3rem}h1{font-size:1.35rem}.wide{display:none}.ranked{display:block}.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tiles b{font-size:1rem}.tiles li{overflow-wrap:anywhere}.picture{overflow-x:auto}.picture svg{min-width:56rem}tbody th{max-width:8rem}thead th{min-width:4.5rem}td.text{min-width:18rem}}
@media print{@page{size:A4 landscape;margin:12mm;@bottom-right{content:counter(page) " / " counter(pages);font-size:8px}}html{font-size:11px}body{max-width:none;padding:0;font-size:1rem}.screen{display:none}.print{display:inline}.tools,.rows,.shown label,.as-table>summary,.long>.shown,td summary{display:none}.as-table .shown{display:block}.long:not(:has(:checked)) tbody tr:nth-child(n+41){display:table-row}.as-table .long:not(:has(:checked)) tbody tr:nth-child(n+41){display:none}summary{list-style:none;font-weight:600;font-size:1.1rem}thead button{display:contents}.contents li:has([href$=rows]){display:none}h2,h3,summary,caption,.note,.legend,section>p:not(.shown),.picture,thead,tbody tr:first-child,tbody tr:nth-last-child(-n+2){break-after:avoid}.long>.shown{break-before:avoid}p,li{break-inside:avoid}details::details-content{content-visibility:visible;height:auto}.scroll,.compare .scroll{max-height:none;overflow:visible;border:0}table{font-size:.8rem}td svg{width:5rem}.picture svg{max-height:165mm}details:has(>.picture){break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}th,td{padding:.1rem .25rem;white-space:normal}td.text{min-width:6rem}thead th,tbody th{position:static}tr,figure,svg,.multiples li,.tiles li{break-inside:avoid-page}.multiples,.tiles{grid-template-columns:repeat(4,1fr)}a{color:inherit}}
`
