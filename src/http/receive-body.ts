import { SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { largeBodyBudget } from './body-budget.ts'

/** Pauses and resumes the receipt of a response. */
export type FlowControl = { pause(): void; resume(): void }

/** A response body that is being received. */
export type ReceivedBody = {
  readonly chunks: readonly Buffer[]
  add(chunk: Buffer): void
  /** Releases the body's share of the memory budget, if it needed one. */
  release(): void
  readonly isLarge: boolean
}

export type ReceiveOptions = {
  /** Bytes to reserve in the memory budget, called once the body turns out to be large. */
  bytesToReserve: () => number
  flow: FlowControl
  maxBytes: number
  /** Called when the body exceeds `maxBytes`. */
  onExceeded: () => void
}

/**
 * Collects a body. Once it exceeds `SMALL_BODY_BYTES` it reserves `bytesToReserve()` bytes of the budget for
 * large bodies, and the response is paused until they are granted. A body reserves only once, so that bodies
 * cannot deadlock.
 */
export function receiveBody({ bytesToReserve, flow, maxBytes, onExceeded }: ReceiveOptions): ReceivedBody {
  const chunks: Buffer[] = []
  let bytes = 0
  let release: (() => void) | undefined
  const reserve = () => {
    let [isGranted, isPaused] = [false, false]
    release = largeBodyBudget.reserve(bytesToReserve(), () => {
      isGranted = true
      if (isPaused) flow.resume()
    })
    if (isGranted) return
    isPaused = true
    flow.pause()
  }
  return {
    chunks,
    add: (chunk) => {
      bytes += chunk.length
      if (bytes > maxBytes) return onExceeded()
      chunks.push(chunk)
      if (bytes > SMALL_BODY_BYTES && release === undefined) reserve()
    },
    release: () => release?.(),
    get isLarge() {
      return release !== undefined
    },
  }
}
