import type { Client } from '../../src/http/http-client.ts'

/** A client whose service is a function; it has no key, and no memory to give back. */
export function fakeClient(send: Client['send']): Client {
  return {
    send,
    baseUrl: 'http://127.0.0.1',
    recycleBody: () => {},
    redactKey: (text) => text,
    close: async () => {},
  }
}
