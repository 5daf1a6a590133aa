-- The usual hand-off: to a first waiter that can be reached and begins no run. Spliced into the loop of mutex.lua after a release, so it defines no function.
-- It writes nothing, and leaves the answer open, if anything else is the case.
local queue, claims, own = key .. ':queue', key .. ':claims', ARGV[at - 1]
local ids = try('ZRANGE', queue, 0, 1)
local entries = ids[1] and try('HMGET', claims, ids[1], ids[2] or '')
local lease, client, floor, channel, secret, attempt, sent, asked =
  match(entries and entries[1] or '', '^(%d+) (%S+) (%d+) (%S+) %S+ (%S+) (%d+) (%d+) (%d+)$')
if lease and channel ~= '-' and floor == '0' and now - asked <= lease * 500
  and (client == '-' or not entries[2] or find(entries[2], lease .. ' ' .. client .. ' 0 ' .. channel .. ' ', 1, true) ~= 1)
  and (channel == own or (try('PUBSUB', 'NUMSUB', channel)[2] or 0) > 0) then
  local ms, last = math.min(match(ARGV[at], '^%d+'), lease), sub(text, 20, 35)
  local ends = now - now % 2 + ms * 1000 -- even: see record.lua
  local token, token_digits, kept = now, now_digits, ends
  if last >= now_digits then
    token = math.max((tonumber(last) or 0) + 1, now, floor)
    token_digits, kept = format('%010d%06d', token / 1000000, token % 1000000), math.max(ends, token)
  end
  local saved = try('SET', key, sub(text, 1, 3) .. format('%010d%06d', ends / 1000000, ends % 1000000) .. token_digits .. attempt .. ' ' .. lease .. ' '
    .. channel .. ' ' .. client .. ' ' .. now_digits .. ' 1\n' .. ids[1], 'EXAT', format('%d', kept / 1000000 + KEPT_SECONDS))
  if not saved.err then
    local valid, receivers = ms + math.floor(math.max(0, now - sent) / 1000), nil
    if channel == own then
      answer = {1, token, tonumber(attempt), valid, 1, ids[1]}
    else
      local message = token_digits .. ' ' .. attempt .. ' ' .. valid .. ' ' .. #ids[1] .. ' ' .. ids[1] .. ' ' .. key
      message = 'G ' .. redis.sha1hex(secret .. redis.sha1hex(secret .. channel .. ' ' .. message)) .. ' ' .. message -- see signed() and publish()
      receivers = find(channel, '{', 1, true) and try('SPUBLISH', channel, message)
      if type(receivers) ~= 'number' or receivers == 0 then
        receivers = take('PUBLISH', channel, message)
      end
      answer = type(receivers) == 'table' and receivers or 1
    end
    call('ZREM', queue, ids[1])
    call('HDEL', claims, ids[1])
  end
end
