/** A function that knows its last answer: all rows of a block have one time, and its text is made once. */
export function memoizeLast<T>(compute: (text: string) => T): (text: string) => T {
  let last: string | undefined
  let result: T
  return (text) => {
    if (text !== last) result = compute(text)
    last = text
    return result
  }
}
