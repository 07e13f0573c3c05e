/**
 * Lua that reads the shared rate-limit state of a quota: `now`, `settings` and `op` from the arguments, `s`
 * from the keys. Other programs can write to the server, so the state is validated; invalid state is deleted
 * and starts over.
 */
export const READ_STATE = `
local time = redis.call('TIME')
local settings = cjson.decode(ARGV[1])
local now = settings.now or time[1] * 1000 + time[2] / 1000
local op = ARGV[2]
local NAMES = {'base', 'doubling', 'risen', 'best', 'slot', 'pause', 'stretch', 'since', 'left', 'refused', 'last',
  'lastAt', 'trip', 'rested', 'droughts', 'stride', 'isFull', 'newest', 'firstAt', 'known'}

-- The value as a number; nil if it is not a number within [least, most].
local function number(value, least, most)
  local found = tonumber(value)
  return found and found >= least and found <= most and found or nil
end

local function hasType(key, wanted)
  local found = redis.call('TYPE', key).ok
  return found == 'none' or found == wanted
end

local LATEST = now + settings.ttlMs + 1000
local TIMES = {slot = true, pause = true, since = true, lastAt = true, newest = true, firstAt = true}
local function readFields()
  local stored, read = redis.call('HMGET', KEYS[1], unpack(NAMES)), {}
  for i, name in ipairs(NAMES) do
    read[name] = number(stored[i] or '0', 0, TIMES[name] and LATEST or 1e15)
    if not read[name] then return nil end
  end
  local base = read.base
  if base > 0 and (base < settings.minPerMs or base > settings.maxPerMs or read.doubling < 1) then return nil end
  if read.since > 0 and read.stride < 1 then return nil end
  return read
end

local function areNumbers(list)
  if type(list) ~= 'table' or #list > settings.maxSamples then return false end
  for _, one in ipairs(list) do
    if type(one) ~= 'number' or not number(one, -1e15, 1e15) then return false end
  end
  return true
end

-- Earlier sample windows; an empty list if any of them is invalid.
local function readEarlierWindows()
  local isRead, earlier = pcall(cjson.decode, redis.call('HGET', KEYS[1], 'earlier') or '[]')
  if not isRead or type(earlier) ~= 'table' or #earlier > 3 then return {} end
  for _, one in ipairs(earlier) do
    if type(one) ~= 'table' or not areNumbers(one.marks) then return {} end
    local counts = {one.stride or '', one.grants or '', one.last or ''}
    if not areNumbers(counts) or one.stride < 1 then return {} end
  end
  return earlier
end

-- Send times of the current window, relative to its start, because JSON would round absolute times; empty if any is invalid.
local function readSentTimes(since)
  local marks = {}
  for i, at in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    local one = number(at, -1e15, 1e15)
    if not one then return {} end
    marks[i] = one - since
  end
  return marks
end

local isState = hasType(KEYS[1], 'hash') and hasType(KEYS[2], 'list') and redis.call('LLEN', KEYS[2]) <= settings.maxSamples
local s = isState and readFields()
if not s then
  redis.call('DEL', KEYS[1], KEYS[2])
  s = {}
  for _, name in ipairs(NAMES) do s[name] = 0 end
end
`
