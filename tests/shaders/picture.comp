#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, r32f) uniform image2D picture;
void main() { imageStore(picture, ivec2(gl_LocalInvocationID.xy), vec4(1)); }
