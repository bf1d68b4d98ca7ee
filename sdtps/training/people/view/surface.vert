#version 330
// Takes a vertex to the picture; the projection is off its axis, for a crop is a window into a larger frame.
in vec3 in_point; in vec3 in_normal; in vec3 in_rest; in vec2 in_fit; in vec4 in_paint;
uniform mat4 camera, window;
out vec3 world; out vec3 normal; out vec3 rest; out vec2 fit; out vec4 paint; out float distance_;
void main() {
  vec4 seen = camera * vec4(in_point, 1.0);
  gl_Position = window * seen;
  world = in_point; normal = in_normal; rest = in_rest; fit = in_fit; paint = in_paint; distance_ = -seen.z;
}
