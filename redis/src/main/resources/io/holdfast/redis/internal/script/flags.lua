-- The flags in a record of any kind, see usual.lua. Included by record.lua and shared_holders.lua, never run alone. The script has the locals record and keys.

local function flags()
  return record and byte(record, 3) - 48 or 7
end

local function has_flag(flag)
  return flags() % (2 * flag) >= flag
end

local function set_flag(flag)
  if record and not has_flag(flag) then
    record = sub(record, 1, 2) .. flags() + flag .. sub(record, 4)
    call('SETRANGE', keys[1], 2, sub(record, 3, 3))
  end
end
