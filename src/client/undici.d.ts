// undici's index loads all that it has, of which this is a tenth; its types are those of the index.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
