/**
 * Limits on what other machines send. Honest answers stay far below them; what exceeds one is refused with an error that
 * names the limit, so that a hostile or broken peer can exhaust neither memory nor time.
 */

const MIB = 2 ** 20

/** Decompressed bytes of one response of the data service. A page of 100 items has 70 to 350 KB, a very dense one a few MB. */
export const MAX_BODY_BYTES = 32 * MIB

/** A response up to this size needs no share of `LARGE_BODIES_BYTES`: even 256 of them at once fit into 256 MiB. */
export const SMALL_BODY_BYTES = MIB

/**
 * Bytes of all larger responses that are received and parsed at once, in the whole process; further ones wait. One of the
 * largest fits: it takes several times its size while it is unpacked and parsed.
 */
export const LARGE_BODIES_BYTES = 32 * MIB

/** After a body of more bytes, what it left in memory is freed at once. */
export const HUGE_BODY_BYTES = 8 * MIB

/** Items of one page. 100 are requested; services that ignore `pageSize` return up to 1,000. */
export const MAX_PAGE_ITEMS = 10_000

/** Levels of nested lists and objects in JSON: of responses, manifests and what runs keep. Known ones have fewer than ten. */
export const MAX_JSON_DEPTH = 100

/** Values in one JSON text: parsed ones take up to 100 bytes each, however few bytes they have in the text. */
export const MAX_JSON_VALUES = 2_000_000

/** Bytes of a `manifest.json` that is fetched: 100,000 files take some 20 MB. */
export const MAX_MANIFEST_BYTES = 64 * MIB

/** Longest pause of a download, in milliseconds. */
export const DOWNLOAD_IDLE_MS = 60_000

/** A download has one minute, and one second more for each so many of its bytes. */
export const DOWNLOAD_BYTES_PER_SECOND = 50_000

/** Bytes of an event that a webhook delivers: as many as the sample receiver of the Avalanche Data API accepts. */
export const MAX_EVENT_BYTES = 50 * MIB

/**
 * Blocks at the end of an export that every run without `endBlock` re-reads for reorgs and late indexing, in the same request as
 * new blocks: a wallet with at most 100 transactions in them costs no further request. It is also the depth below the head
 * that is read by closed block ranges, since page tokens may be offsets that a reorg shifts.
 */
export const LOOKBACK_BLOCKS = 32
