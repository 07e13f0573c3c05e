/**
 * What a service may answer for a resource: the fields with their names and types as the interface has them, each of
 * which may be absent or null, for the interface promises none. Fields beyond these are kept in the object.
 */
export type ResponseFields<Fields> = { [Field in keyof Fields]?: Fields[Field] | null }

/** A set of known values that a service may go beyond. */
export type OpenEnum<Known extends string> = Known | (string & {})

/**
 * A number, as a number or as text in decimal digits: services differ. The interface carries block numbers, gas, values,
 * nonces and token ids as text, which is exact; a JSON number above 2^53 has lost digits when it is read here.
 */
export type Numeric = number | string
