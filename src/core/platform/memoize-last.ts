/** Memoizes the last call of a function, for instance to format a block's time once for all of its rows. */
export function memoizeLast<T>(compute: (text: string) => T): (text: string) => T {
  let last: string | undefined
  let result: T
  return (text) => {
    if (text !== last) result = compute(text)
    last = text
    return result
  }
}
