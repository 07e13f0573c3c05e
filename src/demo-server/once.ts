/** Memoizes a function without parameters. A promise is cached too, even if it rejects. */
export function once<Value>(make: () => Value): () => Value {
  let cached: { readonly value: Value } | undefined
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}
