import { isNft } from '../../core/model/asset.ts'
import { exactFiatValue } from '../../ledger/prices/prices.ts'
import { type Holding, isCounted } from '../holdings.ts'
import { type Html, html, lazyDetails } from '../html.ts'
import {
  amountCell,
  type Cell,
  EMPTY_CELL,
  longCell,
  moneyCell,
  type Table,
  tableHtml,
  textCell,
} from '../tables.ts'
import { assetHtml, assetText, type PortfolioView, partyHtml, partyText } from '../view.ts'

/** The price of an asset at the end; undefined without one. */
export const priceOf = ({ portfolio }: PortfolioView, id: string): string | undefined =>
  portfolio.worth?.assets.find((asset) => asset.id === id)?.price

/** The value of an amount of an asset at the end, in units of 10^-8 of the currency; undefined without a price. */
function fiatValueOf(
  view: PortfolioView,
  { id, decimals, amount }: Pick<Holding, 'id' | 'decimals' | 'amount'>,
) {
  const price = priceOf(view, id)
  return price === undefined || decimals === null ? undefined : exactFiatValue(amount, decimals, price)
}

/** The assets that are held and counted: the most valuable first, then coins and well-known tokens, then by movements. */
export function heldAssets(view: PortfolioView): Holding[] {
  const { holdings, sums } = view.portfolio
  const isHeld = (asset: Holding) =>
    asset.amount !== 0n && isCounted(asset) && fiatValueOf(view, asset) !== 0n
  const held = [...holdings.assets.values()].filter(isHeld)
  const rank = (asset: Holding): readonly number[] => [
    Number(fiatValueOf(view, asset) ?? -1n),
    rankOfKind(asset),
    sums.movements.get(asset.id) ?? 0,
  ]
  return held.sort((a, b) => {
    const [x, y] = [rank(a), rank(b)]
    const at = x.findIndex((value, place) => value !== y[place])
    return at === -1 ? (a.id < b.id ? -1 : 1) : (y[at] ?? 0) - (x[at] ?? 0)
  })
}

const rankOfKind = ({ type, isKnown }: Holding) => (type === 'native' ? 2 : isKnown ? 1 : 0)

/** What is held at the end: by asset, by wallet, and what is in no total and why. */
export function holdingsSection(view: PortfolioView): Html {
  const m = view.text.messages.holdings
  const held = heldAssets(view)
  return html`<section id="holdings"><h2>${m.title}</h2>
${held.length === 0 ? '' : tableHtml(holdingsTable(view, held), view.text)}
${held.length === 0 ? '' : lazyDetails('', m.byWallet, tableHtml(walletsTable(view, held), view.text))}
${excludedHtml(view)}
</section>`
}

const assetCell = (view: PortfolioView, asset: Holding): Cell => ({
  html: assetHtml(view, asset),
  exact: assetText(asset),
})

function holdingsTable(view: PortfolioView, held: readonly Holding[]): Table {
  const { text, portfolio } = view
  const m = text.messages.holdings
  const { worth, prices } = portfolio
  if (worth === undefined || prices === undefined)
    return {
      caption: m.title,
      isTitled: true,
      headers: [m.asset, m.balance],
      rows: held.map((asset) => [assetCell(view, asset), amountCell(asset.amount, asset.decimals, text)]),
    }
  const total = worth.totals.at(-1) ?? 0n
  const { currency } = prices
  const rows = held.map((asset) => {
    const [price, value] = [priceOf(view, asset.id), fiatValueOf(view, asset)]
    const share =
      value === undefined || total <= 0n ? undefined : Number((value * 1_000_000n) / total) / 1_000_000
    return [
      assetCell(view, asset),
      amountCell(asset.amount, asset.decimals, text),
      price === undefined
        ? { ...textCell('–'), isNumber: true }
        : { html: text.price(price), exact: price, isNumber: true },
      moneyCell(value, text),
      {
        html: html`${share === undefined ? '–' : text.percent(share)}`,
        exact: share === undefined ? '' : String(share),
        isNumber: true,
      },
    ]
  })
  return {
    caption: m.title,
    isTitled: true,
    headers: [
      m.asset,
      m.balance,
      text.plain(m.price, { currency }),
      text.plain(m.value, { currency }),
      m.share,
    ],
    rows,
    totals: [textCell(m.total), EMPTY_CELL, EMPTY_CELL, moneyCell(total, text), EMPTY_CELL],
  }
}

function walletsTable(view: PortfolioView, held: readonly Holding[]): Table {
  const { text, portfolio } = view
  const m = text.messages.holdings
  const currency = portfolio.prices?.currency
  const rows = held.flatMap((asset) =>
    [...asset.wallets]
      .filter(([, amount]) => amount !== 0n)
      .map(([wallet, amount]) => [
        {
          html: partyHtml(view, asset.chain, wallet),
          exact: `${partyText(view, asset.chain, wallet)} ${wallet}`,
        },
        assetCell(view, asset),
        amountCell(amount, asset.decimals, text),
        ...(currency === undefined ? [] : [moneyCell(fiatValueOf(view, { ...asset, amount }), text)]),
      ]),
  )
  const headers = [
    m.wallet,
    m.asset,
    m.balance,
    ...(currency === undefined ? [] : [text.plain(m.value, { currency })]),
  ]
  return { caption: m.byWallet, headers, rows }
}

/** Assets whose sums are in no total, and why. */
function excludedHtml(view: PortfolioView): Html {
  const { text, portfolio } = view
  const m = text.messages.holdings
  const excluded = [...portfolio.holdings.assets.values()].filter(
    (asset) =>
      asset.amount !== 0n &&
      !isNft(asset) &&
      (asset.excluded !== undefined || fiatValueOf(view, asset) === 0n),
  )
  if (excluded.length === 0) return html``
  const rows = excluded.map((asset) => [
    assetCell(view, asset),
    amountCell(asset.amount, asset.decimals, text),
    longCell(reasonOf(view, asset)),
  ])
  return html`<details id="excluded"><summary>${m.uncounted}: ${text.count(excluded.length, 'assets')}</summary>${tableHtml({ caption: m.uncounted, headers: [m.asset, m.balance, m.why], rows }, text)}</details>`
}

function reasonOf({ text }: PortfolioView, { excluded, rules }: Holding): string {
  const { holdings, spam } = text.messages
  return excluded === 'suspicious'
    ? rules.map((rule) => spam[rule] ?? rule).join('; ')
    : holdings[excluded ?? 'worthless']
}
