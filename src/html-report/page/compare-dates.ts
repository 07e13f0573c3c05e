import { shownNumber } from '../numbers.ts'
import type { Compared, ComparedWallet } from '../page-data.ts'
import { shownText } from '../visible-text.ts'

/** Fills the comparison of two dates, anew whenever another asset or date is picked. */
export function compareDates(section: HTMLElement): void {
  const text = document.getElementById(section.dataset.compare ?? '')?.textContent ?? ''
  const { days, assets } = JSON.parse(text) as Compared
  const [asset, from, to] = ['asset', 'from', 'to'].map((name) =>
    section.querySelector(`[data-pick=${name}]`),
  ) as [HTMLSelectElement, HTMLSelectElement, HTMLSelectElement]
  offer(
    asset,
    assets.map(({ name }) => name),
  )
  for (const pick of [from, to]) offer(pick, days)
  to.selectedIndex = days.length - 1
  const show = () => {
    const picked = assets[asset.selectedIndex]
    const picks = [from.selectedIndex, to.selectedIndex]
    const rows = (picked?.wallets ?? []).map((wallet) => {
      const [then = 0n, later = 0n] = picks.map((day) => valueAt(wallet, day))
      return rowOf(
        wallet.name,
        [then, later, later - then].map((value) => exact(value, picked?.decimals ?? 0)),
      )
    })
    section.querySelector('tbody')?.replaceChildren(...rows)
  }
  for (const pick of [asset, from, to]) pick.addEventListener('change', show)
  show()
}

function offer(select: HTMLSelectElement, names: readonly string[]): void {
  select.append(...names.map((name, at) => new Option(shortName(name), String(at))))
}

/** A name that fits into a list. */
const shortName = (name: string) => shownText(name).slice(0, 80)

/** The last value that is not after the day. */
function valueAt({ before, points }: ComparedWallet, day: number): bigint {
  let value = before
  for (let at = 0; at < points.length && Number(points[at]) <= day; at += 2) value = String(points[at + 1])
  return BigInt(value)
}

function rowOf(name: string, cells: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  const head = document.createElement('th')
  head.scope = 'row'
  head.textContent = shortName(name)
  row.append(head)
  for (const text of cells) {
    const cell = row.insertCell()
    cell.className = 'number'
    cell.textContent = text
  }
  return row
}

/** Exact, however many digits there are. */
function exact(value: bigint, decimals: number): string {
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  return shownNumber(`${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`)
}
