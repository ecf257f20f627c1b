-- SPDX-License-Identifier: MIT
-- pipeline.lua - lets wrk send 16 requests at a time on each connection.
init = function(args)
	local requests = {}
	for i = 1, 16 do
		requests[i] = wrk.format("GET", "/")
	end
	batch = table.concat(requests)
end

request = function()
	return batch
end
