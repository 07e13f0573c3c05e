/** Keeps the values with the smallest keys: a sample that does not depend on the order in which values are added. */
export class SmallestKeys<T> {
  readonly #size: number
  #entries: { key: number; value: T }[] = []

  constructor(size: number) {
    this.#size = size
  }

  add(key: number, value: T): void {
    this.#entries.push({ key, value })
    if (this.#entries.length >= 2 * this.#size) this.#trim()
  }

  /** The values in the order of their keys. */
  values(): T[] {
    this.#trim()
    return this.#entries.map(({ value }) => value)
  }

  #trim(): void {
    this.#entries = this.#entries.sort((a, b) => a.key - b.key).slice(0, this.#size)
  }
}
