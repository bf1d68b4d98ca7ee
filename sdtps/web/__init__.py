"""The web page: `session` knows no Gradio, `server` does, `static` is what a browser gets."""
