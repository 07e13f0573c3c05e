// The parts of undici that the program uses. Loading all of it takes 0.06 s more at each start.
const Dispatcher = require('../node_modules/undici/lib/dispatcher/dispatcher.js')

// ProxyAgent calls this method for HTTPS; undici's index, which is not loaded, would add it.
Dispatcher.prototype.connect = require('../node_modules/undici/lib/api/api-connect.js')

module.exports = {
  Pool: require('../node_modules/undici/lib/dispatcher/pool.js'),
  EnvHttpProxyAgent: require('../node_modules/undici/lib/dispatcher/env-http-proxy-agent.js'),
  get fetch() {
    return require('../node_modules/undici/lib/web/fetch/index.js').fetch
  },
}
