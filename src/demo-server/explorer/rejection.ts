/** Why a request is rejected. Each explorer API has its own answer for each reason. */
export type RejectionReason =
  | 'not-found'
  | 'unsupported-chain'
  | 'missing-key'
  | 'wrong-key'
  | 'too-many-requests'
  | 'unknown-module'
  | 'unknown-action'
  | 'invalid-address'
  | 'window-too-large'
  | 'no-block'
  | 'not-recorded'

/** Rejects a request. It does not leave this folder: the service turns it into an answer. */
export class ExplorerRejection extends Error {
  readonly reason: RejectionReason

  constructor(reason: RejectionReason) {
    super(reason)
    this.name = 'ExplorerRejection'
    this.reason = reason
  }
}
