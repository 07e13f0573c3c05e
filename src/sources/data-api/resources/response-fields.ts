/**
 * The fields of a resource in a response, with the names and types of the interface. Each may be absent or
 * null, because the interface guarantees none. Additional fields remain in the object.
 */
export type ResponseFields<Fields> = { [Field in keyof Fields]?: Fields[Field] | null }

/** Known values, which a service may extend. */
export type OpenEnum<Known extends string> = Known | (string & {})

/**
 * A number, as a JSON number or as decimal text: services differ. The interface carries block numbers, gas,
 * values, nonces and token ids as text, which is exact; a JSON number above 2^53 loses digits when it is
 * parsed.
 */
export type Numeric = number | string
