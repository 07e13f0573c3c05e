/**
 * Limits on data received from other machines. Valid data stays far below them. Data that exceeds a limit is
 * rejected with an error that names the limit, so that a hostile or broken peer cannot exhaust memory or
 * time.
 */

const MIB = 2 ** 20

/** Decompressed bytes of one response. A page of 100 items has 70 to 350 KB, a very dense one a few MB. */
export const MAX_BODY_BYTES = 32 * MIB

/**
 * Responses up to this size do not count towards `LARGE_BODIES_BYTES`: even 256 of them at once fit into 256
 * MiB.
 */
export const SMALL_BODY_BYTES = MIB

/**
 * Total bytes of larger responses that the process receives and parses at the same time; further ones wait.
 * The limit equals `MAX_BODY_BYTES`, because decompressing and parsing a body takes several times its size in
 * memory.
 */
export const LARGE_BODIES_BYTES = 32 * MIB

/** After a body larger than this, garbage is collected immediately. */
export const HUGE_BODY_BYTES = 8 * MIB

/** Items of one page. 100 are requested; services that ignore `pageSize` return up to 1,000. */
export const MAX_PAGE_ITEMS = 10_000

/**
 * Nesting depth of JSON in responses, manifests and stored run state. Known documents have fewer than ten
 * levels.
 */
export const MAX_JSON_DEPTH = 100

/**
 * Number of values in one JSON text: a parsed value takes up to 100 bytes of memory, however short its text
 * is.
 */
export const MAX_JSON_VALUES = 2_000_000

/** Bytes of a `manifest.json`, downloaded or in a folder. A manifest of 100,000 files has about 20 MB. */
export const MAX_MANIFEST_BYTES = 64 * MIB

/** Milliseconds without new data after which a download is aborted. */
export const DOWNLOAD_IDLE_MS = 60_000

/** Minimum throughput of a download: it may take one minute plus one second for each 50,000 bytes. */
export const DOWNLOAD_BYTES_PER_SECOND = 50_000

/** Bytes of a webhook event; the sample receiver of the Avalanche Data API accepts the same size. */
export const MAX_EVENT_BYTES = 50 * MIB
