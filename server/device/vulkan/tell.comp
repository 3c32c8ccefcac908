#version 460
// Reads up to twelve scalars wherever they are, and stores each where the host looks for it: its bits,
// and these with a mark (see teller.h).
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(buffer_reference, scalar) buffer Words { uint32_t at[]; };
layout(buffer_reference, scalar) buffer Told { uint64_t at[]; };
layout(local_size_x = 16) in;
layout(push_constant, scalar) uniform Push {
  Told told;
  uint32_t count;
  uint32_t wide;  // bit n: number n has eight bytes, else four at most, which are in one word
  uint64_t from[12];
};
const uint64_t kMark = 0xa5a5a5a5a5a5a5a5ul;
void main() {
  const uint n = gl_LocalInvocationID.x;
  if (n >= count) return;
  const uint64_t address = from[n];
  Words words = Words(address & ~3ul);
  uint64_t bits = uint64_t(words.at[0] >> (8u * (uint(address) & 3u)));
  if ((wide >> n & 1u) != 0u) bits |= uint64_t(words.at[1]) << 32;
  told.at[2u * n] = bits;
  told.at[2u * n + 1u] = bits ^ kMark;
}
