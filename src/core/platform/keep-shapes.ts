const samples = new Map<string, readonly unknown[]>()

/**
 * Keeps a few objects until the next call for this kind. V8 forgets the shape of parsed or spread objects when a garbage
 * collection finds none of them, and discards all code that it has optimized for this shape: it would compile the same
 * functions again for every answer.
 */
export function keepShapes(kind: string, objects: readonly unknown[]): void {
  samples.set(kind, objects)
}
