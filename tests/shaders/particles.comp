#version 450
// Structures as std430 lays them out, matrices, a uniform buffer.
layout(local_size_x = 32) in;
struct Particle { vec3 place; float mass; mat2 turn; int kind[3]; };
layout(std430, set = 0, binding = 0) buffer Particles { uint count; Particle all[]; } particles;
layout(std140, set = 0, binding = 1) uniform Step { vec3 gravity; float seconds; float weights[2]; } step_;
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= particles.count) return;
  Particle p = particles.all[i];
  p.place += p.mass * step_.gravity * step_.seconds;
  vec2 turned = p.turn * p.place.xy;
  p.place = vec3(turned, p.place.z);
  p.kind[i % 3] += int(step_.weights[i % 2]);
  p.turn[1][i % 2] = float(i);
  particles.all[i] = p;
}
