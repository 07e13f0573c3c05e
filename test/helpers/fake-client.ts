import type { Client } from '../../src/http/http-client.ts'

/** A client that sends requests to a function instead of a server. It has no key and no buffer pool. */
export function fakeClient(send: Client['send']): Client {
  return {
    send,
    baseUrl: 'http://127.0.0.1',
    keyIn: undefined,
    recycleBody: () => {},
    redactKey: (text) => text,
    close: async () => {},
  }
}
