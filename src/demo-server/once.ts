/** Makes the value on the first call and gives that one ever after, its failure too. */
export function once<Value>(make: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}
