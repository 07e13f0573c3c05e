import { formatMoney, shortAddress, shortenAmount, visibleText } from '../numbers.ts'
import type { ActivityData, PackedAmounts, PackedEntry, PackedEvent } from '../page-data.ts'
import { type ActivityQuery, createFilter, yearOf } from './activity-filter.ts'
import { applySwitch, explorerLink } from './links.ts'
import type { PageMessages } from './messages.ts'
import { saveCsv } from './save-csv.ts'
import { sentenceOf } from './sentence.ts'

/** Transactions on one page of the list. The number of nodes does not depend on how many there are. */
const PAGE_SIZE = 25
/** Amounts that a sentence names. */
const MAX_AMOUNTS = 4

/** Opens the list of a section: unpacks the transactions and shows the newest ones. */
export async function openActivity(section: HTMLElement, messages: PageMessages): Promise<void> {
  const packed = document.getElementById(section.dataset.activity ?? '')?.textContent ?? ''
  const data = JSON.parse(await inflate(packed)) as ActivityData
  new ActivityList(section, data, messages).show()
}

async function inflate(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(stream).text()
}

/** Creates an element with a class and contents. */
function element(tag: string, name: string, ...contents: (Node | string)[]): HTMLElement {
  const created = document.createElement(tag)
  if (name !== '') created.className = name
  created.append(...contents)
  return created
}

class ActivityList {
  readonly #section: HTMLElement
  readonly #data: ActivityData
  readonly #messages: PageMessages
  readonly #day: Intl.DateTimeFormat
  readonly #plural: Intl.PluralRules
  #selected: readonly PackedEntry[]
  #page = 0

  constructor(section: HTMLElement, data: ActivityData, messages: PageMessages) {
    this.#section = section
    this.#data = data
    this.#messages = messages
    this.#day = new Intl.DateTimeFormat(messages.locale, { dateStyle: 'full', timeZone: 'UTC' })
    this.#plural = new Intl.PluralRules(messages.locale)
    // Newest first.
    data.entries.reverse()
    this.#selected = data.entries
    this.#addOptions()
    section.addEventListener('input', () => this.#filter())
    for (const [action, run] of [
      ['newer', () => this.#turn(-1)],
      ['older', () => this.#turn(1)],
      ['save', () => this.#save()],
    ] as const)
      section.querySelector(`[data-do=${action}]`)?.addEventListener('click', run)
  }

  /** Shows the current page of the selected transactions, by day. */
  show(): void {
    const from = this.#page * PAGE_SIZE
    const entries = this.#selected.slice(from, from + PAGE_SIZE)
    const days = new Map<string, HTMLElement[]>()
    for (const entry of entries) {
      const day = new Date(entry[0] * 1000).toISOString().slice(0, 10)
      const items = days.get(day) ?? []
      days.set(day, items)
      items.push(this.#entryElement(entry))
    }
    const sections = [...days].flatMap(([day, items]) => [
      element('h3', '', this.#day.format(new Date(day))),
      element('ul', 'entries', ...items),
    ])
    const { none, range } = this.#messages.activity
    const list = this.#section.querySelector('.days')
    list?.replaceChildren(...(sections.length === 0 ? [element('p', '', none)] : sections))
    if (list !== null) applySwitch(list)
    const numbers = { from: from + 1, to: from + entries.length, n: this.#selected.length }
    const output = this.#section.querySelector('output')
    if (output !== null) output.textContent = entries.length === 0 ? '' : this.#plain(range, numbers)
    this.#enable('newer', this.#page > 0)
    this.#enable('older', from + PAGE_SIZE < this.#selected.length)
  }

  #enable(action: string, isPossible: boolean): void {
    const button = this.#section.querySelector<HTMLButtonElement>(`[data-do=${action}]`)
    if (button !== null) button.disabled = !isPossible
  }

  #turn(pages: number): void {
    this.#page += pages
    this.show()
    this.#section.scrollIntoView()
  }

  #plain(template: string, values: Readonly<Record<string, string | number>>): string {
    const text = (value: string | number) =>
      typeof value === 'number' ? value.toLocaleString(this.#messages.locale) : value
    return template.replace(/\{(\w+)\}/g, (_, name: string) => text(values[name] ?? ''))
  }

  #entryElement([time, chain, transaction, events, rows]: PackedEntry): HTMLElement {
    const { rows: title } = this.#messages.activity
    const clock = new Date(time * 1000).toISOString().slice(11, 16)
    const explorer = this.#data.chains[chain]?.explorer ?? ''
    const isLinked = explorer !== '' && /^0x[0-9a-f]{64}$/.test(transaction)
    const stamp =
      transaction === ''
        ? element('span', 'time')
        : element(
            'span',
            'time',
            explorerLink(isLinked ? `${explorer}/tx/${transaction}` : '', clock, transaction),
          )
    const badge =
      this.#data.chains.length > 1 ? [element('small', 'badge', this.#data.chains[chain]?.name ?? '')] : []
    const sentences = element('div', 'events', ...events.map((event) => this.#eventElement(event, chain)))
    const details = document.createElement('details')
    details.append(
      element(
        'summary',
        '',
        this.#plain(title[this.#plural.select(rows.length) === 'one' ? 0 : 1] ?? '', { n: rows.length }),
      ),
    )
    // Rows are made when they are first shown.
    details.addEventListener('toggle', () => {
      if (details.childElementCount === 1) details.append(this.#rowsElement(rows, chain))
      applySwitch(details)
    })
    return element('li', '', stamp, sentences, element('span', '', ...badge), details)
  }

  #eventElement(
    [kind, wallet, party, into, out, fee, method, value]: PackedEvent,
    chain: number,
  ): HTMLElement {
    const { activity } = this.#messages
    const parts: Readonly<Record<string, () => (Node | string)[]>> = {
      in: () => this.#amounts(into, chain),
      out: () => this.#amounts(out, chain),
      'in|out': () => this.#amounts(into.length > 0 ? into : out, chain),
      'out|in': () => this.#amounts(out.length > 0 ? out : into, chain),
      party: () => [this.#party(party, chain)],
      wallet: () => [this.#party(wallet, chain)],
      method: () => [element('bdi', '', visibleText(method.replace(/\(.*$/, '').slice(0, 60) || '–'))],
    }
    const values = new Set([
      ...(party < 0 ? [] : ['party']),
      ...(into.length > 0 ? ['in'] : []),
      ...(out.length > 0 ? ['out'] : []),
    ])
    const template = sentenceOf(activity.sentences[kind], values)
    const words = template.split(/(\{[\w|]+\})/).flatMap((part) => parts[part.slice(1, -1)]?.() ?? [part])
    const extra: (Node | string)[] = []
    if (Number(value) >= 0.005)
      extra.push(
        ' ',
        element(
          'small',
          '',
          this.#plain(activity.worth, {
            value: formatMoney(value, this.#messages.separators),
            currency: this.#data.currency,
          }),
        ),
      )
    if (fee.length > 0) {
      const [before = '', after = ''] = activity.fee.split('{fee}')
      extra.push(' ', element('small', '', '· ', before, ...this.#amounts(fee, chain), after))
    }
    const owner = kind === 'moved' ? [] : [element('span', 'wallet', this.#party(wallet, chain))]
    return element('p', `event ${kind}`, ...owner, ...words, ...extra)
  }

  /** Amounts with their assets, separated by commas. */
  #amounts(packed: PackedAmounts, chain: number): (Node | string)[] {
    const shown: (Node | string)[] = []
    for (let at = 0; at < packed.length; at += 2) {
      if (at === 2 * MAX_AMOUNTS && packed.length > at + 2) {
        const more = this.#plain(this.#messages.activity.more, { n: packed.length / 2 - MAX_AMOUNTS })
        return [...shown, ' ', more]
      }
      if (at > 0) shown.push(', ')
      const [index, exact] = [Number(packed[at]), String(packed[at + 1])]
      const amount = element('b', 'amount', shortenAmount(exact, this.#messages.separators))
      amount.title = exact
      // One NFT of an id is named without its number.
      const isSingle = exact === '1' && / #\d+$/.test(this.#data.assets[index]?.[0] ?? '')
      shown.push(...(isSingle ? [] : [amount, ' ']), this.#asset(index, chain))
    }
    return shown
  }

  #asset(index: number, chain: number): HTMLElement {
    const [symbol = '', contract = ''] = this.#data.assets[index] ?? []
    const short = symbol.replace(/ ?#(\d{5})\d{4,}(\d{4})$/, ' #$1…$2')
    const name = element('bdi', '', visibleText([...short].slice(0, 40).join('')) || shortAddress(contract))
    return contract === '' ? name : explorerLink(this.#addressOf(chain, contract), name, contract)
  }

  #party(index: number, chain: number): HTMLElement {
    const [address = '', name = ''] = this.#data.parties[index] ?? []
    const text = element(
      name === '' ? 'code' : 'bdi',
      '',
      name === '' ? shortAddress(address) : visibleText([...name].slice(0, 40).join('')),
    )
    return explorerLink(this.#addressOf(chain, address), text, address)
  }

  #addressOf(chain: number, address: string): string {
    const explorer = this.#data.chains[chain]?.explorer ?? ''
    return explorer !== '' && /^0x[0-9a-f]{40}$/.test(address) ? `${explorer}/address/${address}` : ''
  }

  #rowsElement(rows: PackedEntry[4], chain: number): HTMLElement {
    const lines = rows.map(([wallet, type, amount, asset, party]) => {
      const exact = element('td', 'number', amount.replace('-', '−'))
      const other = party < 0 ? '' : this.#party(party, chain)
      return element(
        'tr',
        '',
        element('td', '', this.#party(wallet, chain)),
        element('td', '', type),
        exact,
        element('td', '', this.#asset(asset, chain)),
        element('td', '', other),
      )
    })
    const table = element('div', 'scroll', element('table', '', element('tbody', '', ...lines)))
    table.tabIndex = 0
    return table
  }

  #addOptions(): void {
    const { parties, assets, entries } = this.#data
    const { kinds } = this.#messages.activity
    const wallets = new Map<string, string>()
    const [usedAssets, usedKinds] = [new Map<number, number>(), new Set<PackedEvent[0]>()]
    for (const [, , , events, rows] of entries) {
      for (const [kind] of events) usedKinds.add(kind)
      for (const [wallet, , , asset] of rows) {
        const [address = '', name = ''] = parties[wallet] ?? []
        wallets.set(address, name || shortAddress(address))
        usedAssets.set(asset, (usedAssets.get(asset) ?? 0) + 1)
      }
    }
    const symbols = [...usedAssets]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 200)
      .map(([asset]): [string, string] => {
        const [symbol = '', contract = ''] = assets[asset] ?? []
        return [String(asset), symbol || shortAddress(contract)]
      })
    this.#fill('wallet', [...wallets])
    this.#fill('asset', symbols)
    this.#fill(
      'kind',
      [...usedKinds].map((kind) => [kind, kinds[kind]]),
    )
    this.#fill(
      'year',
      [...new Set(entries.map(yearOf))].map((year) => [year, year]),
    )
  }

  #fill(filter: string, options: readonly (readonly [value: string, name: string])[]): void {
    const list = options.map(([value, name]) => new Option(visibleText(name).slice(0, 40), value))
    this.#section.querySelector(`[data-filter=${filter}]`)?.append(...list)
  }

  #filter(): void {
    const read = (selector: string) =>
      this.#section.querySelector<HTMLSelectElement | HTMLInputElement>(selector)?.value ?? ''
    const query: ActivityQuery = {
      search: read('input[type=search]'),
      wallet: read('[data-filter=wallet]'),
      asset: read('[data-filter=asset]'),
      kind: read('[data-filter=kind]'),
      year: read('[data-filter=year]'),
    }
    this.#selected = this.#data.entries.filter(createFilter(this.#data, query))
    this.#page = 0
    this.show()
  }

  /** Saves the rows of the selected transactions, with exact amounts. */
  #save(): void {
    const { title, columns } = this.#messages.activity
    const lines = this.#selected.flatMap(([time, , transaction, , rows]) =>
      rows.map(([wallet, type, amount, asset, party]) => {
        const [symbol = '', contract = ''] = this.#data.assets[asset] ?? []
        const [[address = '', label = ''], [other = '', name = '']] = [
          this.#data.parties[wallet] ?? [],
          this.#data.parties[party] ?? [],
        ]
        const instant = new Date(time * 1000).toISOString()
        return [instant, address, label, type, amount, symbol, contract, other, name, transaction]
      }),
    )
    saveCsv(title, [columns, ...lines])
  }
}
