// The parts of undici that the program uses: to load all of them takes a tenth of a second at each start.
const Dispatcher = require('../node_modules/undici/lib/dispatcher/dispatcher.js')

// Proxies for HTTPS call it; undici's index adds it.
Dispatcher.prototype.connect = require('../node_modules/undici/lib/api/api-connect.js')

module.exports = {
  Pool: require('../node_modules/undici/lib/dispatcher/pool.js'),
  EnvHttpProxyAgent: require('../node_modules/undici/lib/dispatcher/env-http-proxy-agent.js'),
  get fetch() {
    return require('../node_modules/undici/lib/web/fetch/index.js').fetch
  },
}
