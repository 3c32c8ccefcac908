// What the test kernels share: the calling convention of program.h (slots of 8 bytes, the failure
// record first, the number of workgroups last), and views of memory by address.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

layout(buffer_reference, scalar) buffer I32s { int32_t at[]; };
layout(buffer_reference, scalar) buffer I64s { int64_t at[]; };
layout(local_size_x = 64) in;

int64_t group_number() {
  return int64_t(gl_WorkGroupID.x) + int64_t(gl_WorkGroupID.y) * int64_t(gl_NumWorkGroups.x);
}
int64_t thread_number() { return group_number() * 64 + int64_t(gl_LocalInvocationID.x); }
