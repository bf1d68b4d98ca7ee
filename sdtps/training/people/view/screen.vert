#version 330
// Covers the picture with one triangle.
in vec2 in_corner; out vec2 place;
void main() { place = in_corner * 0.5 + 0.5; gl_Position = vec4(in_corner, 0.0, 1.0); }
