"""The gate: one layer round the whole application that nothing small stops and nothing foreign passes.

From the outside in: who asks (`identity`), the log, headers, a sentence for every failure (`failures`), cookies, own
names and pages only (`origins`), then the limits. Below it, `connections` has deadlines of its own, and behind it
`turns` shares the queue.
"""
