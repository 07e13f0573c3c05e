/** A function that knows its last answer: all rows of a block have one time, and its text is made once. */
export function keepingLast<T>(make: (text: string) => T): (text: string) => T {
  let last: string | undefined
  let made: T
  return (text) => {
    if (text !== last) made = make(text)
    last = text
    return made
  }
}
