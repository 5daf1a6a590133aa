-- A grant of one mutex: its token and its holder. For the KEYS and what is in them see queue.lua. Included, never run alone.
--
-- '%.0f', since '..' loses digits. redis.call would not, but formats anew each time what can be formatted once.

local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function digits(number)
  return string.format('%.0f', number)
end

-- Gives its digits. It is kept for two hours past the moment that it stands for: longer than a clock is set back by mistake.
local function save_token(token)
  local text = digits(token)
  redis.call('SET', KEYS[4], text, 'PXAT', math.floor(token / 1000) + 7200000)
  return text
end

local function next_token(now, floor)
  local stored = tonumber(redis.call('GET', KEYS[4]) or 0)
  if not stored then
    error('FOREIGN value in the token counter')
  end
  return math.max(stored + 1, now, floor)
end

-- Makes the claim the holder for ms, with a token that was saved before. When it became so is for the inspector only.
local function hold(now, token, id, attempt, lease, channel, ms)
  redis.call('HSET', KEYS[1], 'id', id, 'token', token, 'attempt', attempt, 'lease', lease, 'channel', channel, 'since', now)
  redis.call('PEXPIRE', KEYS[1], ms)
end
