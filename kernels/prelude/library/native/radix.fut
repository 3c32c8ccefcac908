-- kenaz/radix by the operation that sorts.

def keys_u8 [n] (keys: [n]u8) : [n]u8 = intrinsics.sort_keys keys
def by_u8 [n] 't (keys: [n]u8) (xs: [n]t) : [n]t = intrinsics.sort_by keys xs

def keys_u16 [n] (keys: [n]u16) : [n]u16 = intrinsics.sort_keys keys
def by_u16 [n] 't (keys: [n]u16) (xs: [n]t) : [n]t = intrinsics.sort_by keys xs

def keys_u32 [n] (keys: [n]u32) : [n]u32 = intrinsics.sort_keys keys
def by_u32 [n] 't (keys: [n]u32) (xs: [n]t) : [n]t = intrinsics.sort_by keys xs

def keys_u64 [n] (keys: [n]u64) : [n]u64 = intrinsics.sort_keys keys
def by_u64 [n] 't (keys: [n]u64) (xs: [n]t) : [n]t = intrinsics.sort_by keys xs
