import { formatNumber } from '../numbers.ts'
import type { ComparisonData, ComparisonWallet } from '../page-data.ts'
import { visibleText } from '../visible-text.ts'

/** Fills the comparison of two dates, and again whenever the user selects another asset or date. */
export function compareDates(section: HTMLElement): void {
  const text = document.getElementById(section.dataset.compare ?? '')?.textContent ?? ''
  const { days, assets } = JSON.parse(text) as ComparisonData
  const [asset, from, to] = ['asset', 'from', 'to'].map((name) =>
    section.querySelector(`[data-pick=${name}]`),
  ) as [HTMLSelectElement, HTMLSelectElement, HTMLSelectElement]
  addOptions(
    asset,
    assets.map(({ name }) => name),
  )
  for (const select of [from, to]) addOptions(select, days)
  to.selectedIndex = days.length - 1
  const caption = section.querySelector('caption')
  const dates = section.querySelectorAll('thead th:nth-child(2), thead th:nth-child(3)')
  const update = () => {
    const selectedAsset = assets[asset.selectedIndex]
    const selectedDays = [from.selectedIndex, to.selectedIndex]
    if (caption !== null)
      caption.textContent = `Balances at two dates: ${shortName(selectedAsset?.name ?? '')}`
    for (const [at, date] of dates.entries()) date.textContent = `end of ${days[selectedDays[at] ?? 0] ?? ''}`
    const totals = [0n, 0n]
    const textsOf = ([fromValue = 0n, toValue = 0n]: readonly bigint[]) =>
      [fromValue, toValue, toValue - fromValue].map((value) =>
        formatExact(value, selectedAsset?.decimals ?? 0),
      )
    const rows = (selectedAsset?.wallets ?? []).map((wallet) => {
      const values = selectedDays.map((day) => valueAt(wallet, day))
      for (const [at, value] of values.entries()) totals[at] = (totals[at] ?? 0n) + value
      return rowOf(wallet.name, textsOf(values))
    })
    section.querySelector('tbody')?.replaceChildren(...rows)
    section.querySelector('tfoot')?.replaceChildren(rowOf('Total', textsOf(totals)))
  }
  for (const select of [asset, from, to]) select.addEventListener('change', update)
  update()
}

function addOptions(select: HTMLSelectElement, names: readonly string[]): void {
  select.append(...names.map((name, at) => new Option(shortName(name), String(at))))
}

/** A name truncated for the select lists. */
const shortName = (name: string) => visibleText(name).slice(0, 80)

/** The balance at the end of a day: the last point that is not later. */
function valueAt({ openingBalance, points }: ComparisonWallet, day: number): bigint {
  let value = openingBalance
  for (let at = 0; at < points.length && Number(points[at]) <= day; at += 2) value = String(points[at + 1])
  return BigInt(value)
}

function rowOf(name: string, cells: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  const header = document.createElement('th')
  header.scope = 'row'
  header.textContent = shortName(name)
  row.append(header)
  for (const text of cells) {
    const cell = row.insertCell()
    cell.className = 'number'
    cell.textContent = text
  }
  return row
}

/** Formats an amount of any length without rounding. */
function formatExact(value: bigint, decimals: number): string {
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  return formatNumber(`${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`)
}
