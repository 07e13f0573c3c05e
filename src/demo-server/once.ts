/** Makes the value on the first call and gives that one ever after, its failure too. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
