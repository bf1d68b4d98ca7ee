#version 330
// Depth as the key light sees it.
in vec3 in_point;
uniform mat4 sun;
void main() { gl_Position = sun * vec4(in_point, 1.0); }
