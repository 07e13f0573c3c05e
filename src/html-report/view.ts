import { chainOf } from '../core/model/chains.ts'
import type { ExportFacts } from './export-facts.ts'
import type { Holding } from './holdings.ts'
import { type Html, html, nameHtml, shortName } from './html.ts'
import type { Text } from './messages/text.ts'
import { shortAddress } from './numbers.ts'
import type { Portfolio } from './portfolio.ts'

/** What a page is made from: the sections read it. */
export type View = {
  title: string
  text: Text
  /** All exports of the page. */
  exports: readonly [ExportFacts, ...ExportFacts[]]
  /** undefined if no export has a ledger. */
  portfolio: Portfolio | undefined
  hasSeveralChains: boolean
  /** The name of an address: the label of a wallet, the name in the user's file, or that in the service; '' if none. */
  nameOf: (chain: string, address: string) => string
  /** Whether the page links to explorers. */
  hasLinks: boolean
  /** The address of a chain's explorer; empty if the table of chains has none, or if the page has no links. */
  explorerOf: (chain: string) => string
}

/** The view of a section about exports with a ledger. */
export type PortfolioView = View & { portfolio: Portfolio }

export const chainName = (chain: string): string => chainOf(chain)?.name ?? chain

/** A link to the explorer of the chain; only the text without an explorer or for an irregular address. */
export function addressLink({ explorerOf }: View, chain: string, address: string, text: Html): Html {
  const explorer = explorerOf(chain)
  if (explorer === '' || !/^0x[0-9a-f]{40}$/.test(address))
    return html`<span title="${address}">${text}</span>`
  return html`<a class="explorer" rel="noreferrer" target="_blank" title="${address}" href="${explorer}/address/${address}">${text}</a>`
}

/** The name of an address or its short form, linked to the explorer. */
export function partyHtml(view: View, chain: string, address: string): Html {
  const name = view.nameOf(chain, address)
  return addressLink(
    view,
    chain,
    address,
    name === '' ? html`<code>${shortAddress(address)}</code>` : nameHtml(name),
  )
}

/** The same as plain text, for charts. */
export function partyText({ nameOf }: View, chain: string, address: string): string {
  const name = nameOf(chain, address)
  return name === '' ? shortAddress(address) : shortName(name, 22)
}

/** An asset's symbol, with a badge of its chain if there are several, linked to its contract: symbols are not unique. */
export function assetHtml(view: View, asset: NamedAsset): Html {
  const { chain, address, symbol } = asset
  const shown = symbol === '' && address !== null ? view.nameOf(chain, address) : symbol
  const name = shown === '' ? html`<em>${view.text.messages.holdings.noSymbol}</em>` : nameHtml(shown)
  const linked = address === null ? name : addressLink(view, chain, address, name)
  return html`${linked}${view.hasSeveralChains ? html` <small class="badge">${chainName(chain)}</small>` : ''}`
}

type NamedAsset = Pick<Holding, 'chain' | 'address' | 'symbol'>

/** The exact names of an asset for CSV. */
export const assetText = ({ chain, address, symbol }: NamedAsset): string =>
  [symbol, address ?? chainName(chain)].filter((part) => part !== '').join(' ')

/** The first names of a list, and the number of the others. */
export function nameList({ text, ...view }: View, assets: readonly Holding[], max = 5): Html {
  const names = assets
    .slice(0, max)
    .map((asset, at) => html`${at === 0 ? '' : ', '}${assetHtml({ ...view, text }, asset)}`)
  const others = assets.length - names.length
  return html`${names}${others === 0 ? '' : `, ${text.count(others, 'others')}`}`
}
