/** A binary heap: the smallest first. */
export type Heap<T> = { push(value: T): void; pop(): T | undefined; peek(): T | undefined }

export function createHeap<T>(compare: (a: T, b: T) => number): Heap<T> {
  const values: T[] = []
  return {
    peek: () => values[0],
    push: (value) => {
      values.push(value)
      siftUp(values, compare)
    },
    pop: () => {
      const first = values[0]
      const last = values.pop()
      if (values.length > 0 && last !== undefined) {
        values[0] = last
        siftDown(values, compare)
      }
      return first
    },
  }
}

function siftUp<T>(values: T[], compare: (a: T, b: T) => number): void {
  let at = values.length - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (compare(values[at] as T, values[parent] as T) >= 0) return
    swap(values, at, parent)
    at = parent
  }
}

function siftDown<T>(values: T[], compare: (a: T, b: T) => number): void {
  let at = 0
  for (;;) {
    let least = at
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < values.length && compare(values[child] as T, values[least] as T) < 0) least = child
    }
    if (least === at) return
    swap(values, at, least)
    at = least
  }
}

function swap<T>(values: T[], a: number, b: number): void {
  const kept = values[a] as T
  values[a] = values[b] as T
  values[b] = kept
}
