import { COIN_DECIMALS } from '../../core/model/asset.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { missingBlocks } from '../data-collection.ts'
import type { Facts, TransactionFacts } from '../facts.ts'
import { amountHtml, counted, grouped, type Html, html, minuteOf, percent } from '../html.ts'
import { coinOf, labelHtml } from '../view.ts'
import { headerHtml } from './header.ts'
import { type Tile, tilesHtml } from './tiles.ts'

/** What a stranger has to know in a minute of an export that has no ledger. */
export function factsHeadSection(facts: Facts, title: string): Html {
  return html`${headerHtml(facts, { title, span: spanOf(facts) })}
<p class="words">${wordsOf(facts)}</p>
${tilesHtml([...blocksTile(facts.manifest), ...transactionTiles(facts), tablesTile(facts.manifest)])}`
}

function spanOf({ transactions }: Facts): string {
  if (transactions === undefined) return 'no table of transactions'
  const { span } = transactions
  const told = (ms: number) => minuteOf(new Date(ms).toISOString())
  return span === undefined ? 'no transactions' : `${told(span.first)} to ${told(span.last)}`
}

function wordsOf({ manifest, labels, transactions }: Facts): Html {
  const why = 'This export has no ledger, so that this page has no balances, assets or counterparties.'
  if (transactions === undefined) return html`${why}`
  if (transactions.count === 0) return html`There is no transaction in these blocks. ${why}`
  const { count, failed, fees, lost } = transactions
  return html`${counted(count, 'transaction')}, of which ${grouped(failed)} failed, cost their senders ${amountHtml(fees, COIN_DECIMALS)} ${coinOf({ manifest })} in fees, ${amountHtml(lost, COIN_DECIMALS)} of it for failures.
${busiestWords(transactions, labels)} ${why}`
}

function busiestWords({ busiest, count }: TransactionFacts, labels: Facts['labels']): Html {
  const [first] = busiest
  if (first === undefined) return html``
  return html`${labelHtml(labels, first.address)} sent most, ${grouped(first.count)} or ${percent(first.count, count)} of them.`
}

function blocksTile(manifest: Manifest): Tile[] {
  const { blocks, coverage } = manifest
  if (blocks === undefined) {
    const seen = coverage.filter(({ transactions }) => transactions > 0).length
    return [
      [html`${grouped(seen)} of ${grouped(coverage.length)}`, 'wallets active', html`by their listings`],
    ]
  }
  const [all, missing] = [blocks.toBlock - blocks.fromBlock, missingBlocks(manifest)]
  return [
    [html`${grouped(all - missing)} of ${grouped(all)}`, 'blocks read', html`${grouped(missing)} missing`],
  ]
}

function transactionTiles({ manifest, transactions }: Facts): Tile[] {
  if (transactions === undefined) return []
  const { count, failed, fees, lost, senders } = transactions
  return [
    [html`${grouped(count)}`, 'transactions', html`${grouped(failed)} failed, ${percent(failed, count)}`],
    [
      html`${amountHtml(fees, COIN_DECIMALS)}`,
      `${coinOf({ manifest })} in fees`,
      html`${amountHtml(lost, COIN_DECIMALS)} of it for failures`,
    ],
    [html`${grouped(senders)}`, 'senders', html`whoever they are`],
  ]
}

function tablesTile({ tables }: Manifest): Tile {
  const all = Object.values(tables)
  const rows = all.reduce((sum, { rows: one }) => sum + one, 0)
  return [html`${grouped(rows)}`, 'rows', html`in ${counted(all.length, 'table')}`]
}
