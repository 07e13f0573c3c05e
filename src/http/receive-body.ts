import { SMALL_BODY_BYTES } from '../core/model/limits.ts'
import { largeBodyBudget } from './body-budget.ts'

/** Stops and restarts a response that is being received. */
export type FlowControl = { pause(): void; resume(): void }

/** A response's body as it arrives. */
export type ReceivedBody = {
  readonly chunks: readonly Buffer[]
  add(chunk: Buffer): void
  /** Gives back the body's share of the memory for large ones; undefined where it needed none. */
  release(): void
  readonly isLarge: boolean
}

export type ReceiveOptions = {
  /** Bytes of memory that the body may take, asked for when it turns out to be large. */
  bytesToReserve: () => number
  flow: FlowControl
  maxBytes: number
  /** Called once the body has more bytes than it may. */
  onExceeded: () => void
}

/**
 * Collects a body. Once it exceeds `SMALL_BODY_BYTES` it needs a share of the memory for large bodies, `share()` bytes of it,
 * and is paused until they are free. It asks for them once, so that bodies never wait for each other in a circle.
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
