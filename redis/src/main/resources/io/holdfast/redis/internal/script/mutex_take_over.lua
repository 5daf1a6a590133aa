-- Takes the next waiters of a mutex over from the queue to its front. Included by mutex_hand_off.lua, never run alone.
-- Sets the flags and the messages to the waiters, or leaves everything in its place.

local queued, ids, lines, longest = try('ZRANGE', queue, 0, MOST_IN_FRONT - 1, 'WITHSCORES'), {}, {}, 0
for n = 1, #queued, 2 do
  ids[#ids + 1] = queued[n]
end
local entries = ids[1] and try('HMGET', waiters, unpack(ids)) or {}
for n, entry in ipairs(entries) do
  lines[#lines + 1] = entry and queued[2 * n] .. ' ' .. entry .. ' ' .. ids[n] or nil
  longest = math.max(longest, string.match(entry or '', '^%d+ (%d+)') or 0)
end

if lines[1] and type(try('RPUSH', front, unpack(lines))) == 'number' then
  call('ZREM', queue, unpack(ids))
  call('HDEL', waiters, unpack(ids))
  keep(front, longest)
  local left = call('ZCARD', queue)
  flags = flags % 4 + 4 - (left == 0 and call('EXISTS', key .. ':interest') == 0 and 1 or 0)
  call('SETRANGE', key, 1, flags) -- a later command may fail, and the record must show the front then

  for _, line in ipairs(lines) do
    local channel, waiter = string.match(line, '^%d+ %d+ %d+ %d+ %d+ %x* (%S+) (.+)$')
    if channel then
      told[channel] = told[channel] and told[channel] .. '\n' .. waiter or 'H ' .. digits(claim_ms) .. ' ' .. waiter
    end
  end

  -- The client of the last one here may have vanished: one of the last of another client sends an attempt too, see waiters.lua.
  local behind = left > 0 and call('ZRANGE', queue, -8, -1) or {}
  local their, here = behind[1] and call('HMGET', waiters, unpack(behind)) or {}, string.match(lines[#lines], '^%d+ %d+ %d+ %d+ %d+ %x* (%S*) ')
  for n = #behind, 1, -1 do
    local channel = string.match(their[n] or '', ' (%S+)$')
    if channel and channel ~= here then
      told[channel] = (told[channel] and told[channel] .. '\n' or 'H ' .. digits(claim_ms) .. ' ') .. behind[n]
      break
    end
  end

  -- Forgets some waiters that send no more attempts: as many as can have come meanwhile, and more.
  if call('HLEN', waiters) > left then
    local some = call('HRANDFIELD', waiters, 2 * MOST_IN_FRONT, 'WITHVALUES')
    for n = 1, #some, 2 do
      local lease, asked = string.match(some[n + 1], '^[^\n]* (%d+) (%d+) %d+ %x* %S*') -- also of a note, see waiters.lua
      if asked and now - asked > lease * 500 then
        call('ZREM', queue, some[n])
        call('HDEL', waiters, some[n])
      end
    end
  end
end
